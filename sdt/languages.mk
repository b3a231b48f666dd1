# libdtrap-sdt for other languages: for Java an archive, for Python a wheel, for Node a
# package as npm makes it.  Each contains the library, and is made without a network
# where the language's headers are; `make' alone makes none of them.
#
# SDT_JAVA, SDT_PYTHON and SDT_NODE are these files, or nothing where headers are
# missing.  SDT_LANGS is what can be made.

PYTHON ?= /usr/bin/python3
JDK := $(patsubst %/bin/javac,%,$(shell readlink -f "$$(command -v javac)"))
PYTHON_H := $(lastword $(wildcard /usr/include/python3.*/Python.h))
NODE_H := $(wildcard /usr/include/node/node_api.h)
# A wheel names the machine as the compiler does, npm has versions of three numbers.
WHEEL := dtrap_sdt-$(VERSION)-cp310-abi3-linux_$(shell uname -m).whl
SDT_JAVA := $(if $(wildcard $(JDK)/include/jni.h),$(B)/dtrap-sdt.jar)
SDT_PYTHON := $(if $(and $(PYTHON_H),$(wildcard \
	/usr/lib/python3/dist-packages/wheel)),$(B)/$(WHEEL))
SDT_NODE := $(if $(NODE_H),$(B)/dtrap-sdt-$(VERSION).0.tgz)
SDT_LANGS := $(SDT_JAVA) $(SDT_PYTHON) $(SDT_NODE)
# What a tool that reads the sources needs to be told.
SDT_INCLUDES := $(addprefix -isystem ,$(if $(SDT_JAVA),$(JDK)/include \
	$(JDK)/include/linux) $(dir $(PYTHON_H) $(NODE_H)))

# $(call sdt_needs,FILE,WHAT) stands in the rules of a language.
sdt_needs = $(if $(1),,$(error $(2) missing: run 'make deps'))

sdt-java: $(SDT_JAVA)
	$(call sdt_needs,$(SDT_JAVA),jni.h or javac (Debian package openjdk-17-jdk-headless) is)
sdt-python: $(SDT_PYTHON)
	$(call sdt_needs,$(SDT_PYTHON),Python.h or the module wheel (Debian packages python3-dev and python3-wheel) is)
sdt-node: $(SDT_NODE)
	$(call sdt_needs,$(SDT_NODE),node_api.h (Debian package libnode-dev) is)

# A shared object in which the library is, and shows its names to nobody.
sdt_object = $(CC) $(ALL_CFLAGS) $(SDT_INCLUDES) -fPIC -fvisibility=hidden \
	$(LDFLAGS) -shared -Wl,--exclude-libs,ALL -o $@ $(filter %.c,$^) \
	$(B)/libdtrap-sdt.a -ldl

$(B)/sdt/java/libdtrap-sdt-java.so: sdt/java/native.c $(B)/libdtrap-sdt.a
	@mkdir -p $(@D)
	$(call q,LINK)$(sdt_object)

JAVA_SRC := $(wildcard sdt/java/org/dtrap/sdt/*.java)
# The second option: sun.misc.Unsafe is meant (Semaphores.java).
$(B)/dtrap-sdt.jar: $(JAVA_SRC) $(B)/sdt/java/libdtrap-sdt-java.so
	@rm -rf $(B)/sdt/java/classes
	@mkdir -p $(B)/sdt/java/classes/org/dtrap/sdt
	$(call q,JAVAC)javac -Xlint:all -XDignore.symbol.file \
		$(if $(WERROR),-Werror) -d $(B)/sdt/java/classes $(JAVA_SRC)
	@cp $(B)/sdt/java/libdtrap-sdt-java.so $(B)/sdt/java/classes/org/dtrap/sdt
	$(call q,JAR)jar --create --file $@ -C $(B)/sdt/java/classes org

$(B)/$(WHEEL): sdt/python/setup.py sdt/python/module.c $(B)/libdtrap-sdt.a
	@rm -rf $(B)/sdt/python
	@mkdir -p $(B)/sdt/python
	$(call q,WHEEL)cd sdt/python && PYTHONWARNINGS=ignore BUILD=$(abspath $(B)) \
		VERSION=$(VERSION) CC="$(CC)" CFLAGS="$(CFLAGS) $(WARN)" \
		$(PYTHON) setup.py --quiet egg_info --egg-base $(abspath $(B)/sdt/python) \
		build -b $(abspath $(B)/sdt/python) bdist_wheel \
		-b $(abspath $(B)/sdt/python/wheel) -d $(abspath $(B)) \
		>$(abspath $(B)/sdt/python/out) 2>&1 || { cat $(abspath $(B)/sdt/python/out); exit 1; }
	@touch $@

$(B)/sdt/node/package/dtrap_sdt.node: sdt/node/addon.c sdt/node/shared.c \
	sdt/node/shared.h $(B)/libdtrap-sdt.a
	@mkdir -p $(@D)
	$(call q,LINK)$(sdt_object)

# What npm pack makes is an archive of a folder of this name.
$(B)/dtrap-sdt-$(VERSION).0.tgz: sdt/node/index.js sdt/node/package.json \
	$(B)/sdt/node/package/dtrap_sdt.node
	@cp sdt/node/index.js $(B)/sdt/node/package
	@sed 's/@VERSION@/$(VERSION).0/' sdt/node/package.json \
		>$(B)/sdt/node/package/package.json
	$(call q,TAR)tar -C $(B)/sdt/node -czf $@ --owner=0 --group=0 package

E2E += $(SDT_LANGS)

# Only what was made is installed.
JAVADIR = $(DESTDIR)$(PREFIX)/share/java
install-languages:
	for f in $(wildcard $(SDT_JAVA)); do \
		install -D -m 644 $$f $(JAVADIR)/$${f##*/}; done
	for f in $(wildcard $(SDT_PYTHON) $(SDT_NODE)); do \
		install -D -m 644 $$f $(DATADIR)/$${f##*/}; done

.PHONY: sdt-java sdt-python sdt-node install-languages

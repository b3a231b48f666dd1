"""Makes the wheel, in the directory that the environment names BUILD, with the
library that is there. `make sdt-python` calls it."""
import os

from setuptools import Extension, setup

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), '../..'))
BUILD = os.environ['BUILD']

setup(
    name='dtrap-sdt',
    version=os.environ['VERSION'],
    description='Static probes that a program makes while it runs',
    license='as dtrap',
    python_requires='>=3.10',
    ext_modules=[Extension(
        'dtrap_sdt',
        sources=['module.c'],
        include_dirs=[ROOT],
        extra_compile_args=['-std=gnu11', '-fvisibility=hidden'],
        extra_link_args=['-Wl,--exclude-libs,ALL'],
        extra_objects=[os.path.join(BUILD, 'libdtrap-sdt.a')],
        depends=[os.path.join(BUILD, 'libdtrap-sdt.a')],
        py_limited_api=True)],
    options={'bdist_wheel': {'py_limited_api': 'cp310'}})

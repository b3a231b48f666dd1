/*
 * requests SOCKET N PATH: asks the web server that listens on the socket for PATH,
 * N times, one after the other, each in a connection of its own.  It ends well
 * only if every answer has the status 200, and then prints how many there were
 * and the body of the last one.
 */
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "t/workload/workload.h"

static char answer[65536];

/* The server closes what it has answered: HTTP/1.0. */
static const char *
ask(const char *where, const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };
	char request[512];
	size_t had = 0, length;
	ssize_t n;
	char *body;
	int fd;

	must(strlen(where) < sizeof(to.sun_path));
	strcpy(to.sun_path, where);
	length = snprintf(request, sizeof(request),
	    "GET %s HTTP/1.0\r\nHost: localhost\r\n\r\n", path);
	must(length < sizeof(request));
	must((fd = socket(AF_UNIX, SOCK_STREAM, 0)) >= 0);
	must(connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0);
	must(write(fd, request, length) == (ssize_t)length);
	while ((n = read(fd, answer + had, sizeof(answer) - 1 - had)) > 0)
		had += n;
	must(n == 0);
	close(fd);
	answer[had] = '\0';
	must(strncmp(answer, "HTTP/1.1 200 ", 13) == 0);
	must((body = strstr(answer, "\r\n\r\n")) != NULL);
	return body + 4;
}

int
main(int argc, char **argv)
{
	const char *body = "";

	if (argc != 4)
		return 2;
	for (int i = 0; i < atoi(argv[2]); i++)
		body = ask(argv[1], argv[3]);
	printf("%s answers\n%s", argv[2], body);
	return 0;
}

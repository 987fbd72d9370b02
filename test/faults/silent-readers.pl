# perl silent-readers.pl <port> <count> <path>: so many connections that ask for the path and read nothing, "ready", and
# after a line on stdin reads each to its end and prints how many bytes came of each.
use strict;
use Socket;
$| = 1;
my ($port, $count, $path) = @ARGV;
my @sockets = map {
  socket(my $socket, PF_INET, SOCK_STREAM, 0) or die "socket: $!";
  setsockopt($socket, SOL_SOCKET, SO_RCVBUF, pack('i', 8192)) or die "setsockopt: $!";
  connect($socket, sockaddr_in($port, INADDR_LOOPBACK)) or die "connect: $!";
  syswrite($socket, "GET $path HTTP/1.1\r\nHost: localhost\r\n\r\n") or die "write: $!";
  $socket;
} 1 .. $count;
print "ready\n";
<STDIN>;
# What is left is taken quickly.
setsockopt($_, SOL_SOCKET, SO_RCVBUF, pack('i', 4 << 20)) for @sockets;
print join(' ', map {
  my ($socket, $bytes) = ($_, 0);
  while (my $read = sysread($socket, my $piece, 65536)) { $bytes += $read }
  $bytes;
} @sockets), "\n";

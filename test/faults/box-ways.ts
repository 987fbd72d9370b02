import { HOSTILE } from '../services/sandbox/stage.ts'

const python = (code: string) => `python3 -c '${code.replaceAll('\n', ';')}'`

/** Further ways out of the box, too many or too dear for each run of the tests. */
const MORE: Record<string, string> = {
  'starts a storm of processes': 'for n in $(seq 150); do (setsid sh -c ": $MARK-stays; sleep 1000; :" >/dev/null 2>&1 &); done',
  'starts processes that start others': `${python(`import os,time
[os.fork() for _ in range(6)]
os.setsid() if os.getpid()!=os.getpgrp() else 0
time.sleep(0.2)`)} & wait`,
  // The folders are measured four times a second, so a file that is gone at once may have been larger.
  'fills its private folders': 'head -c 1200M /dev/zero > /tmp/full && sleep 3 && echo ESCAPED; rm -f /tmp/full',
  'types into a terminal': `${python(`import fcntl,termios
f=open("/dev/tty","w")
fcntl.ioctl(f,termios.TIOCSTI,b"x")
print("ESCAPED")`)}; ${python(`import fcntl,termios
[fcntl.ioctl(n,termios.TIOCSTI,b"x") for n in (0,1,2)]
print("ESCAPED")`)}`,
  'opens the terminals of others': 'for d in /dev/pts/* /dev/console /dev/vcs; do [ "$d" = /dev/pts/ptmx ] || (echo x > "$d"); done',
  'makes a program that runs as root': 'cp /bin/sh suid; chmod 4755 suid; ./suid -p -c "cat $BASE/own/master.key"; rm -f suid',
  'becomes another user': `su -c "cat $BASE/own/master.key"; sudo -n cat "$BASE/own/master.key"; ${python(`import os
os.setuid(0)
print(open(os.environ["BASE"]+"/own/master.key").read())`)}`,
  'traces its own guard': python(`import ctypes
c=ctypes.CDLL(None)
print([c.ptrace(16,p,0,0) for p in (1,2,3)])
print(open("/proc/1/mem","rb").read(1))`),
  'reads the memory of others': 'for p in 1 $VICTIM $PPID; do head -c 10 /proc/$p/mem; cat /proc/$p/environ /proc/$p/maps; done | ' +
    'tr "\\0" "\\n"',
  'hooks of a repository in a folder': 'git init -q deep/sub; mkdir -p deep/sub/.git/hooks; cp /bin/true deep/sub/.git/hooks/pre-push',
  'a file .git that leads elsewhere': 'mkdir -p w; echo "gitdir: ../evil" > w/.git; git init -q --bare evil; echo x > ' +
    'evil/hooks/post-commit',
  'hooks through a folder that is shared': 'git init -q c; echo ../evil > c/.git/commondir; git -C c config core.hooksPath /tmp',
  'answers approvals on every port': 'for p in $PORT 3001 80 8080; do (echo x > /dev/tcp/127.0.0.1/$p) && echo ESCAPED; done; true',
  'answers approvals by other names': 'for h in localhost 0.0.0.0 127.1 "[::ffff:127.0.0.1]" 0x7f000001 2130706433 "$HOST_ADDRESS"; do ' +
    'curl -sm 1 -X POST "http://$h:$PORT/approvals/x" -d "{}"; done',
  'becomes a daemon': python(`import os,subprocess
os.fork() and os._exit(0)
os.setsid()
os.fork() and os._exit(0)
subprocess.Popen(["sh","-c",": "+os.environ["MARK"]+"-stays; sleep 1000; :"],stdout=-3,stderr=-3,stdin=-3)`),
  'registers for later': 'crontab -l; echo "* * * * * touch /tmp/$MARK" | crontab -; echo "touch /tmp/$MARK" | at now; systemd-run ' +
    '--user true',
  'talks to the bus': 'dbus-send --session --dest=org.freedesktop.DBus / org.freedesktop.DBus.ListNames && echo ESCAPED; ls /run/user && ' +
    'ls /run/user/* | grep . && echo ESCAPED; ls /run/docker.sock /var/run/docker.sock && echo ESCAPED; true',
  'names of others': 'hostname evil && [ "$(cat /proc/sys/kernel/hostname)" = evil ] && echo ESCAPED; ipcs -m | grep 0x && echo ' +
    'ESCAPED; true',
  'goes up by descriptors': python(`import os
[print(os.readlink("/proc/self/fd/"+f)) for f in os.listdir("/proc/self/fd") if os.path.exists("/proc/self/fd/"+f)]
print(os.open("../own/master.key",0,dir_fd=os.open(".",0)))`),
  'links to what is beside the folder': 'ln -sfn "$BASE/own" l; cat l/master.key; cp -r l/. copy; tar cf - l/ | tar tf -; rm -f l',
  'copies what it may not read': 'cp -r "$BASE/own" here; cp "$HOME/.ssh/id_ed25519" here2; tar cf all.tar "$BASE/own" "$HOME/.aws"; ' +
    'cat here* all.tar; rm -rf here* all.tar',
  'limits and priorities of others': 'renice -n -5 -p $VICTIM; kill -STOP $VICTIM; prlimit --pid $VICTIM --nofile=1; ' +
    'taskset -p 1 $VICTIM; true'
}

/** How a command may be started. A script that stayed would be read by later commands, and its words be taken for theirs. */
const STARTS: Array<[how: string, start: (command: string) => string]> = [
  ['', (command) => command],
  ['in the background', (command) => `(${command}) & wait`],
  ['in a session of its own', (command) =>
    `cat > start.sh <<'END_OF_START'\n${command}\nEND_OF_START\nsetsid -w bash start.sh; rm -f start.sh`],
  ['from python, in a folder below', (command) =>
    `cat > start.sh <<'END_OF_START'\n${command}\nEND_OF_START\n${python(`import subprocess
subprocess.run(["bash","start.sh"])`)}; rm -f start.sh`]
]

/** More than 200 commands that try to leave the box, by what they try. */
export const WAYS: Record<string, string> = Object.fromEntries(
  Object.entries({ ...HOSTILE, ...MORE }).flatMap(([what, command]) =>
    STARTS.map(([how, start]) => [`${what} ${how}`.trim(), start(command)])
  )
)

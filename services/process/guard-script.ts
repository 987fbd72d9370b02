/**
 * The shell script that a guarded child runs first. `$0` is its group tag (group-tag.ts), `$@` the command. fd 3 is one end of
 * a socket pair; the service holds the other end and reads one line from it, which signals that the command is about to start.
 * The guard waits on fd 3. When the service dies for any reason, the read ends. The guard then kills every process with the
 * group tag, repeatedly until it finds no more (killed processes may just have started others), and then its own group. The
 * guard
 * - is orphaned on purpose (a subshell within a subshell): it is no child of the command, so neither `wait` nor waitpid(-1)
 * sees it;
 * - holds none of the command's streams, otherwise their readers would never see the end;
 * - survives the SIGTERM that ends the group, to guard a command that traps it: the ignored signals are set before it is
 * forked, and the command starts after that;
 * - starts before the tag is set, so it does not find itself.
 */
export const GUARD_SCRIPT = `
( trap '' TERM INT HUP QUIT; (
  read -r line <&3
  PATH=/usr/bin:/bin:$PATH
  round=0
  while [ $round -lt 50 ]; do
    marked=$(grep -l "^Max resident set  *$0 " /proc/[0-9]*/limits)
    [ -n "$marked" ] || break
    for limits in $marked; do
      limits=\${limits#/proc/}
      kill -KILL "\${limits%/limits}"
    done
    round=$((round + 1))
  done
  kill -KILL 0
) </dev/null >/dev/null 2>&1 & )
echo >&3
exec 3<&-
ulimit -m $(($0 / 1024)) 2>/dev/null
exec "$@"`

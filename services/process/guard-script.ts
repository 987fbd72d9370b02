/**
 * What a guarded child runs first. `$0` is the mark of its group (mark.ts), `$@` the command, fd 3 one end of a pair
 * whose other end the service holds and reads one line from, which says that the command is about to start.
 *
 * The guard waits on fd 3. When the service dies, however it dies, the read ends and the guard kills what carries the
 * mark, again until nothing new is found (what it kills may be starting others), and then its group. It
 * - is orphaned on purpose (a subshell within a subshell): no child of the command, so neither `wait` nor waitpid(-1) sees it;
 * - holds none of the command's streams, or their readers would never see the end;
 * - outlives the TERM that ends the group, to guard a command that traps it: what it ignores is set before it is forked,
 *   and the command starts after that;
 * - was started before the mark is set, so it does not find itself.
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

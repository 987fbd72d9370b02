/** Name of the variable that marks every process of a guarded group, for those that leave the group. */
export const MARK = 'AGENT_GUARD'

/**
 * What a guarded child runs first. `$0` is the mark of its group, `$@` the command, fd 3 one end of a pair whose
 * other end the service holds.
 *
 * The guard waits on fd 3. When the service dies, however it dies, the read ends and the guard kills what carries the
 * mark (processes that made a session of their own) and then its group. It
 * - is orphaned on purpose (a subshell within a subshell): no child of the command, so neither `wait` nor waitpid(-1) sees it;
 * - holds none of the command's streams, or their readers would never see the end;
 * - outlives the TERM that ends the group, to guard a command that traps it: what it ignores is set before it is forked,
 *   and the command starts after that;
 * - was started before the mark is exported, so it does not find itself.
 */
export const PROLOGUE = `
( trap '' TERM INT HUP QUIT; (
  read -r line <&3
  PATH=/usr/bin:/bin:$PATH
  for round in 1 2 3; do
    for found in $(grep -lF -- "$0" /proc/[0-9]*/environ); do
      found=\${found#/proc/}
      kill -KILL "\${found%/environ}"
    done
  done
  kill -KILL 0
) </dev/null >/dev/null 2>&1 & )
exec 3<&-
${MARK}="$${MARK} $0"
export ${MARK}
exec "$@"`

/** A folder with its identity, see `WorkFolder`. */
interface BoxFolder {
  path: string
  dev: string
  ino: string
}

/**
 * Where a command runs: in a box without a network; in a box that can reach only these hosts, and whose ports can be reached at 127.0.0.1;
 * outside of a box, with all rights of its user; or it does not run. `folder` is the working folder, the only one that a command in a box
 * can write to.
 */
export type Boundary =
  & ({ is: 'confined', folder: BoxFolder }
    | { is: 'networked', folder: BoxFolder, hosts: string[], ports?: number[] }
    | { is: 'outside', why: string }
    | { is: 'refused', why: string })
  & {
    /**
     * The folder of the repository that contains the working folder, if the git directory is outside of the working folder and can be
     * written to.
     */
    repository?: string
    /** Its git directory. */
    gitDirectory?: string
    /** What of the git directory can be undone, in words for the user. */
    undo?: string
  }

/**
 * Which commands run in a box. `auto`: all that can, unless their call asks to run outside. `required`: all; a command that cannot does not
 * run. `off`: none.
 */
export type SandboxMode = 'auto' | 'required' | 'off'

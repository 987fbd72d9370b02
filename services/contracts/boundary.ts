/** A folder with its identity; see `WorkFolder`. */
interface BoxFolder {
  path: string
  dev: string
  ino: string
}

/**
 * Where a command runs. `confined`: in a box (a sandbox of the operating system) without network. `networked`: in a box that can reach only
 * `hosts`, and whose `ports` can be reached at 127.0.0.1. `outside`: outside of a box, with all rights of its user. `refused`: not at all.
 * `folder` is the working folder, the only folder to which a command in a box can write.
 */
export type Boundary =
  & ({ is: 'confined', folder: BoxFolder }
    | { is: 'networked', folder: BoxFolder, hosts: string[], ports?: number[] }
    | { is: 'outside', why: string }
    | { is: 'refused', why: string })
  & {
    /**
     * The folder of the git repository that contains the working folder. Only present if the git directory is
     * outside of the working folder and can be written to.
     */
    repository?: string
    /** The git directory of `repository`. */
    gitDirectory?: string
    /** Which changes of the git directory can be undone, in words for the user. */
    undo?: string
  }

/**
 * Which commands run in a box. `auto`: all commands that can, except calls that ask to run outside. `required`:
 * all commands; a command that cannot run in a box does not run. `off`: none.
 */
export type SandboxMode = 'auto' | 'required' | 'off'

// Snapshots answer what changed, or would change, for undo, approvals, tried commands, copies and applies. All of them treat a git
// directory, and a database of SQLite, as one unit (whole-units.ts).

/**
 * `take(folder)`, `diff(snapshot)` and `outlook(folder)`: the content of a folder before a command, on disk, and the differences from it
 * afterwards.
 */
export { type CommandPlace, createSnapshots, type FolderSnapshot, type Snapshots } from './snapshots.ts'
/** `take` and `diff` for the paths that a call names, with copies of what is there. */
export { diffPaths, takePaths } from './path-snapshot.ts'
/** Examines what is at one path, or at an entry of an open folder, without keeping it. */
export { inBatches, lookAt, surveyEntry } from './survey.ts'
export { describeChange, isSame, isUnchanged, type Item, type Place } from './places.ts'
export { chainsOf, sourceOf } from './chains.ts'
/** `restore`: plans the steps that restore paths, without those that others changed, and executes them. */
export { type Chain, planRestore, type RestorePlan, type Skipped } from './plan-restore.ts'
export { restore } from './restore.ts'
export { isAddedObject, type Unit, type Units } from './whole-units.ts'
/** Clones a folder (jobs `cloneFolder`, `compareClone` and `settleClone`), and copies changes between folder and clone. */
export { chainsOfCopy, refreshClone } from './clone-differences.ts'
export type { Cloned, Difference, FolderJobs, SettleCloneRequest, States } from './tree-rpc.ts'
/** `watch`: hints that something in folders might have changed. */
export { createFolderWatches, MOST_OF_ONE } from './watch.ts'
/** The disk space for kept contents. */
export { createUndoSpace, type UndoSpace } from './space.ts'
export { readText, readWhole } from './contents.ts'
export { wasInGit } from './git-objects.ts'
/** Finds out who wrote a file: a command, or the author of a commit. */
export { createCommandFiles } from './command-files.ts'

// Folders that are held open, so that the folder that was checked is the one that is used.
export {
  asideName,
  type Folder,
  isMounted,
  isOwnName,
  openFile,
  PathRefused,
  temporaryName,
  withFile,
  withFolder,
  withParent,
  withSubfolder
} from './open-folder.ts'
export {
  entryOf,
  type HeldFolder,
  holdFolder,
  holdSubfolder,
  identityOf,
  identityOfHeld,
  KERNEL_FOLDERS,
  readEntry,
  release
} from './held-folder.ts'
export { type IgnoreRules, ignoreText, isIgnored, prefixOf, rulesAbove, rulesInside, rulesOfExclude, withRules } from './ignore-rules.ts'

// Snapshots answer "what did this change, or what would it?" for undo, approvals, tried commands, copies and applies. A git directory and a
// database of SQLite are one thing in all of them (whole-units.ts).

/** `take(folder)`, `diff(snapshot)` and `outlook(folder)`: what is in a folder before a command, on disk, and what differs from it then. */
export { type CommandPlace, createSnapshots, describeLeftOut, type FolderSnapshot, type Snapshots } from './snapshots.ts'
/** `take` and `diff` of the paths that a call names, with copies of what is there. */
export { diffPaths, takePaths } from './path-snapshot.ts'
/** What is at one path, or at an entry of an open folder; nothing is kept of it. */
export { inBatches, lookAt, surveyEntry } from './survey.ts'
export { describeChange, isSame, isUnchanged, type Copy, CopiesUnavailable, type Item, type Place } from './places.ts'
/** `restore`: what is to be done so that paths are as before, by a plan that leaves alone what others changed, and doing it. */
export { type Chain, type ChainUnit, planRestore, type RestorePlan, type Skipped } from './plan-restore.ts'
export { restore } from './restore.ts'
export { removeTemporaries } from './restore-step.ts'
export { isAddedObject, type Units } from './whole-units.ts'
/** A clone of a folder (made by the job `cloneFolder`): how it and its folder differ, and bringing the changes of one into the other. */
export { chainsOfCopy, type Difference, differencesOf, refreshClone } from './clone-differences.ts'
export type { Compared, FolderJobs, States } from './tree-rpc.ts'
export { rowAt } from './walk-tree.ts'
/** `watch`: hints that something in folders may have changed. */
export { createFolderWatches, MOST_OF_ONE } from './watch.ts'
/** The room of what is kept, and the contents in it. */
export { createUndoSpace, type UndoSpace } from './space.ts'
export { readCopy, readWhole } from './entry-file.ts'
export { wasInGit } from './git-objects.ts'

// Folders held open, so that what was checked is what is used.
export {
  type Folder,
  isMounted,
  openFile,
  PathRefused,
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

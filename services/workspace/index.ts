export { createEntryWriter, readCopy, readWhole } from './entry-file.ts'
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
export { wasInGit } from './git-objects.ts'
export { type IgnoreRules, ignoreText, isIgnored, prefixOf, rulesAbove, rulesInside, withRules } from './ignore-rules.ts'
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
export { type Copy, CopiesUnavailable, describeChange, isSame, isUnchanged, type Item, type Place } from './places.ts'
export { type Chain, type ChainUnit, planUndo, type Skipped, type UndoPlan } from './plan-restore.ts'
export { removeTemporaries } from './restore.ts'
export { restoreSteps } from './restore-steps.ts'
export { createUndoSpace, type UndoSpace } from './space.ts'
export { inBatches, lookAt, settleItems, surveyAll, surveyEntry } from './survey.ts'
export { bringIntoCopy, chainsOfCopy, type Difference, differencesOf } from './restore-copy.ts'
export type { Compared, FolderJobs, States } from './tree-rpc.ts'
export { rowAt } from './walk-tree.ts'
export { isAddedObject, type Units, unitsAfter, unitsBefore } from './whole-units.ts'
export { type CommandPlace, createTrees, describeLeftOut, type TreeRecords, type Trees } from './trees.ts'

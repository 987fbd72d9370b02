// Replaces a folder by a symlink and back, over and over, until it is killed or orphaned. Arguments: the folder, where the link leads.
import { renameSync, symlinkSync, unlinkSync } from 'node:fs'

const [folder, target] = process.argv.slice(2)
const pause = () => {
  for (const end = performance.now() + Math.random(); performance.now() < end;);
}
process.send?.('ready')
for (const parent = process.ppid; process.ppid === parent;) {
  try {
    renameSync(folder, `${folder}.kept`)
    symlinkSync(target, folder)
    pause()
    unlinkSync(folder)
    renameSync(`${folder}.kept`, folder)
    pause()
  } catch {
    // A tool made or removed something in between.
    try {
      unlinkSync(folder)
    } catch {}
    try {
      renameSync(`${folder}.kept`, folder)
    } catch {}
  }
}

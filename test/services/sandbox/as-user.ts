// Tries all ways out of the box as the user that runs this program, and tells on its standard output which of them led out.
import { attempt, setStage } from './stage.ts'

const stage = await setStage()
const { stdout } = await stage.run('id -u')
console.log(JSON.stringify({ uid: Number(stdout), escapes: await attempt(stage) }))
await stage.close()
process.exit()

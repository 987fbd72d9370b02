import { refuseOldNode } from '../bin/node-version.js'

// The script of `npm start`. It is JavaScript because any Node may run it when the development packages are not installed,
// and an old Node cannot run TypeScript.
if (!refuseOldNode()) void import('./start-built.js')

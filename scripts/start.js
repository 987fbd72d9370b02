import { refuseOldNode } from '../bin/node-version.js'

// What `npm start` runs. Without the development packages it may be run by any Node, and an old one reads no TypeScript.
if (!refuseOldNode()) import('./start.ts')

export { type Copies, rehearsalOwner } from './copies.ts'

export { type BoxedCommand, type BoxKind, describeBoundary, type Sandbox } from './sandbox.ts'

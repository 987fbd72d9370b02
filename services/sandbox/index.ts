export { OBEYED } from './box-places.ts'
export { createOverlay, type Overlay } from './overlay.ts'
export { type BoxedCommand, type BoxKind, describeBoundary, type Sandbox } from './sandbox.ts'
export type { SharedNetwork } from './shared-network.ts'

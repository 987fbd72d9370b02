import { ToolFailed } from '../tool-errors.ts'
import type { Size, View } from './control/desktop-rpc.ts'

/** Runs whose last screenshot is remembered. */
const MOST_RUNS = 500

export type LastViews = ReturnType<typeof createLastViews>

/** Remembers, for each run, the view of its last screenshot when pixels of that picture are not pixels of the screen. */
export function createLastViews () {
  const views = new Map<string, { view: View, screen: Size }>()

  return {
    /** Notes a screenshot; `view` is undefined when its pixels are those of the screen. */
    note (runId: string, view: View | undefined, screen: Size): void {
      views.delete(runId)
      if (view === undefined) return
      views.set(runId, { view, screen })
      if (views.size > MOST_RUNS) views.delete(views.keys().next().value!)
    },

    /** Throws ToolFailed for a point without a view after such a screenshot: it cannot be known which pixels are meant. */
    assertKnown (runId: string, { x, y, view }: { x?: number, y?: number, view?: View }): void {
      const last = views.get(runId)
      if (last === undefined || view !== undefined || (x === undefined && y === undefined)) return
      const { width, height } = last.screen
      const whole = { x: 0, y: 0, width, height, imageWidth: width, imageHeight: height }
      throw new ToolFailed(
        `Nothing was done: in the last screenshot ${last.view.imageWidth} × ${last.view.imageHeight} pixels show ${last.view.width} × ` +
          `${last.view.height} pixels of the screen, and the call does not say which of them ${x}, ${y} are. For pixels of that picture ` +
          'call ' +
          `again with view ${JSON.stringify(last.view)}; for pixels of the screen with view ${JSON.stringify(whole)}.`
      )
    }
  }
}

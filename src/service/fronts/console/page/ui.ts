/** The renderer. Everything else imports it from here, so that it can be replaced. */
import { useLayoutEffect } from 'hono/jsx/dom'

export type { Child } from 'hono/jsx/dom'
export { memo, render, useCallback, useId, useLayoutEffect, useMemo, useRef, useState } from 'hono/jsx/dom'

/**
 * Runs once the elements are in the page. The renderer's own runs with the next frame, which a tab in the background
 * does not have: again for each rendering until then, and even if the component is gone. What such an effect has begun
 * never ends, and the second update of a component that is gone shows it again.
 */
export function useEffect(effect: () => unknown, deps: readonly unknown[]): void {
  useLayoutEffect(() => {
    let isOver = false
    let cleanUp: unknown
    queueMicrotask(() => {
      if (!isOver) cleanUp = effect()
    })
    return () => {
      isOver = true
      if (typeof cleanUp === 'function') cleanUp()
    }
  }, deps)
}

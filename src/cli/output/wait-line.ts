import { styleText } from 'node:util'
import { printable } from './printable.ts'

const FRAMES = ['⠋', '⠙', '⠹', '⠸', '⠼', '⠴', '⠦', '⠧', '⠇', '⠏']
const FRAME_MS = 100
// Some terminals do not say.
const DEFAULT_COLUMNS = 80
const CLEAR_LINE = '\r\u001b[K'

/**
 * Shows on a terminal's stderr what the command waits for, until the returned function is called.
 * `note` is read again and again.
 */
export function showWaiting(what: string, note: () => string = () => ''): () => void {
  const { stderr } = process
  if (!stderr.isTTY) return () => {}
  const beganAt = Date.now()
  const draw = () => {
    const elapsedMs = Date.now() - beganAt
    const frame = FRAMES[Math.floor(elapsedMs / FRAME_MS) % FRAMES.length] ?? ''
    // A line that wraps could not be cleared.
    const line = printable(`${what} (${Math.floor(elapsedMs / 1000)} s)${note()}`).slice(
      0,
      (stderr.columns || DEFAULT_COLUMNS) - 3,
    )
    stderr.write(`${CLEAR_LINE}${styleText('cyan', frame, { stream: stderr })} ${line}`)
  }
  const timer = setInterval(draw, FRAME_MS)
  return () => {
    clearInterval(timer)
    stderr.write(CLEAR_LINE)
  }
}

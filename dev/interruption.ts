/** Why we end when nothing went wrong. */
export class Interruption extends Error {}

// npm passes on a Ctrl-C that the terminal has sent to us too: one wish, two signals.
const ONE_WISH_MS = 500
const PARENT_LOOK_EVERY_MS = 500

/** Calls back when we are asked to end, or when npm, which would have passed that on, is killed. A second wish is not discussed. */
export function whenInterrupted(interrupt: (why: Interruption) => void): void {
  let askedAt: number | null = null
  const ask = (why: string) => {
    if (askedAt !== null && Date.now() - askedAt > ONE_WISH_MS) process.exit(130)
    askedAt ??= Date.now()
    interrupt(new Interruption(why))
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, () => ask(name))

  if (process.env.npm_lifecycle_event === undefined) return
  const npm = process.ppid
  const timer = setInterval(() => {
    if (process.ppid === npm) return
    clearInterval(timer)
    interrupt(new Interruption('npm is gone'))
  }, PARENT_LOOK_EVERY_MS)
}

import type { Logger } from '@temporalio/worker'
import { sleep, unlessAborted } from '../../shared/lib/abort.ts'
import { type Attempt, type KeepRules, type LogLine, nextStep, START } from './next-step.ts'
import type { Publication } from './publish-catalog.ts'

export interface KeepOptions extends KeepRules {
  /** Publishes once. `last` is null until an attempt has succeeded. */
  publish(last: Publication | null): Promise<Publication>
  /** Aborts when the worker ends. */
  signal: AbortSignal
  logger: Pick<Logger, 'info' | 'warn'>
  /** Called once, when the worker may start to poll. */
  onSettled(): void
}

/**
 * Publishes a worker's catalog and keeps it published until the worker ends: checks it every `checkEveryMs` and retries
 * transient failures. Rejects when the engine rejects the catalog and `onPublishError` is `stop`.
 */
export async function keepCatalog({ publish, signal, logger, onSettled, ...rules }: KeepOptions): Promise<void> {
  let state = START
  while (!signal.aborted) {
    // The worker's connection cannot cancel a call: an abandoned one ends at its own deadline.
    const attempt = await unlessAborted(attemptOf(publish(state.last)), signal).catch(() => null)
    if (attempt === null) return
    const step = nextStep(state, attempt, rules)
    if ('error' in step) throw step.error
    for (const line of step.log) log(line)
    if (step.state.isSettled && !state.isSettled) onSettled()
    state = step.state
    await sleep(withJitter(step.waitMs), signal)
  }

  function log({ level, message, fields }: LogLine): void {
    logger[level](message, { ...rules.fields, ...fields })
  }
}

function attemptOf(publishing: Promise<Publication>): Promise<Attempt> {
  return publishing.then(
    (published) => ({ published }),
    (error: unknown) => ({ error }),
  )
}

/** Up to 20 % less, so that workers that started together do not check at the same time. */
function withJitter(ms: number): number {
  return ms * (0.8 + 0.2 * Math.random())
}

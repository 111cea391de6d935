import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from '@temporalio/worker'
import { report } from './log-publication.ts'
import { isRefusal } from './permanent-error.ts'
import type { Publication } from './publish-catalog.ts'

export interface KeepOptions {
  /** One attempt. `starts` until one has succeeded. */
  publish(starts: boolean): Promise<Publication>
  /** Whether a refused catalog rejects; one that was in force before never does. */
  onPublishError: 'stop' | 'warn'
  lookEveryMs: number
  /** Aborts when the worker ends. */
  signal: AbortSignal
  logger: Pick<Logger, 'info' | 'warn'>
  /** In each line of the log. */
  facts: { catalog: string; namespace: string }
  /** Called once, when the worker may be seen polling. */
  onSettled(): void
}

const FIRST_BACKOFF_MS = 1000
const MAX_BACKOFF_MS = 15_000

/**
 * Publishes a worker's catalog and keeps it published until the worker ends.
 *
 * Looks at it every `lookEveryMs`, and tries again what fails for a while. Rejects when the engine refuses the catalog.
 */
export async function keepCatalog({
  publish,
  onPublishError,
  lookEveryMs,
  signal,
  ...options
}: KeepOptions): Promise<void> {
  const { logger, facts } = options
  let last: Publication | null = null
  let wasInForce = false
  let isSettled = false
  let failures = 0

  function settle(): void {
    if (!isSettled) options.onSettled()
    isSettled = true
  }

  while (!signal.aborted) {
    const attempt: Attempt | null = await orAborted(publish(last === null), signal)
    if (attempt === null) return
    if ('error' in attempt) {
      const isRefused = isRefusal(attempt.error)
      const what = wasInForce ? "can't be looked at in" : "can't be published to"
      const message = `Catalog ${facts.catalog} ${what} namespace ${facts.namespace}: ${reasonOf(attempt.error)}`
      if (isRefused && onPublishError === 'stop' && !wasInForce) throw new Error(message, { cause: attempt.error })
      if (failures === 0) logger.warn(`${message}. The worker keeps running and tries again`, facts)
      failures++
      if (isRefused) settle()
      await rest(isRefused ? lookEveryMs : backoffMs(failures), signal)
    } else {
      if (failures > 0) logger.info('The engine answers again: catalog looked at', { ...facts, failures })
      failures = 0
      report(attempt.published, last, { logger, facts })
      last = attempt.published
      wasInForce ||= attempt.published.state !== 'left'
      settle()
      await rest(lookEveryMs, signal)
    }
  }
}

type Attempt = { published: Publication } | { error: unknown }

/** Null when the signal aborts first. The worker's connection cannot cancel a call: it is left to its deadline. */
async function orAborted(publishing: Promise<Publication>, signal: AbortSignal): Promise<Attempt | null> {
  const aborted = Promise.withResolvers<null>()
  const abort = () => aborted.resolve(null)
  signal.addEventListener('abort', abort)
  const attempt = publishing.then(
    (published) => ({ published }),
    (error: unknown) => ({ error }),
  )
  return Promise.race([attempt, aborted.promise]).finally(() => signal.removeEventListener('abort', abort))
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}

function backoffMs(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** (failures - 1), MAX_BACKOFF_MS)
}

/** A tenth more or less, so that many workers that started at once do not all look at once. */
async function rest(ms: number, signal: AbortSignal): Promise<void> {
  const jittered = ms * (0.9 + 0.2 * Math.random())
  await sleep(jittered, undefined, { signal }).catch(() => {}) // the worker has ended, which the caller sees too
}

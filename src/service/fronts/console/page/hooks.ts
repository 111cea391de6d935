import { sleep } from '../../../../shared/lib/abort.ts'
import { readCredential, whenCredentialChanges } from './credential.ts'
import { useEffect, useRef, useState } from './ui.ts'

export function useCredential(): string | null {
  const [credential, setCredential] = useState(readCredential)
  useEffect(() => whenCredentialChanges(() => setCredential(readCredential())), [])
  return credential
}

/** Whether the tab can be seen. One that cannot asks nothing and holds no connection. */
export function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden)
  useEffect(() => {
    const update = () => setVisible(!document.hidden)
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isVisible
}

/**
 * Calls `read` while the tab can be seen, every `everyMs` or, if it is null, once; and from the beginning when one of
 * `inputs` changes, or the returned function is called.
 */
export function useReading(
  read: (signal: AbortSignal) => Promise<void>,
  everyMs: number | null,
  inputs: readonly unknown[],
): () => void {
  const [attempt, setAttempt] = useState(0)
  const isVisible = useVisible()
  useEffect(() => {
    if (!isVisible) return
    const controller = new AbortController()
    void keepReading(controller.signal)
    return () => controller.abort()
  }, [...inputs, everyMs, attempt, isVisible])

  async function keepReading(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const begun = Date.now()
      await read(signal)
      if (everyMs === null) return
      await sleep(Math.max(everyMs, REFRESH_PER_LATENCY * (Date.now() - begun)), signal)
    }
  }

  return () => setAttempt((before) => before + 1)
}

// A slow read must not take more than a tenth of the engine's time.
const REFRESH_PER_LATENCY = 10

/** The time, again every `everyMs`; only once if it is null. */
export function useNow(everyMs: number | null): number {
  const [now, setNow] = useState(Date.now)
  const isVisible = useVisible()
  useEffect(() => {
    setNow(Date.now())
    if (everyMs === null || !isVisible) return
    const timer = setInterval(() => setNow(Date.now()), everyMs)
    return () => clearInterval(timer)
  }, [everyMs, isVisible])
  return now
}

/** Sets the title of the page. */
export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Portico`
  }, [title])
}

/** A function that always calls the newest version of `act`, for listeners. */
export function useLatest<Args extends unknown[], Result>(act: (...args: Args) => Result): (...args: Args) => Result {
  const latest = useRef(act)
  latest.current = act
  const stable = useRef((...args: Args) => (latest.current ?? act)(...args))
  return stable.current ?? act
}

export function useMedia(query: string): boolean {
  const [matches, setMatches] = useState(() => matchMedia(query).matches)
  useEffect(() => {
    const media = matchMedia(query)
    const update = () => setMatches(media.matches)
    media.addEventListener('change', update)
    return () => media.removeEventListener('change', update)
  }, [query])
  return matches
}

/** What a button does: one thing at a time, and why it failed. */
export function useAct() {
  const [state, setState] = useState<{ busy: boolean; error: unknown }>({ busy: false, error: null })
  /** Returns the error, or null. */
  async function act(does: () => Promise<unknown>): Promise<unknown> {
    setState({ busy: true, error: null })
    const error = await does().then(
      () => null,
      (failed: unknown) => failed,
    )
    setState({ busy: false, error })
    return error
  }
  return { ...state, act }
}

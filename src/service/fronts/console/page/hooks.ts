import { useEffect, useLayoutEffect, useRef, useState } from './ui.ts'

/** Whether the tab can be seen. One that cannot asks nothing and holds no connection. */
export function useVisible(): boolean {
  const [isVisible, setVisible] = useState(!document.hidden)
  // Not `useEffect`, which waits for a frame: a tab in the background has none.
  useLayoutEffect(() => {
    const update = () => setVisible(!document.hidden)
    document.addEventListener('visibilitychange', update)
    return () => document.removeEventListener('visibilitychange', update)
  }, [])
  return isVisible
}

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
  useLayoutEffect(() => {
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
  useLayoutEffect(() => {
    const media = matchMedia(query)
    const update = () => setMatches(media.matches)
    media.addEventListener('change', update)
    return () => media.removeEventListener('change', update)
  }, [query])
  return matches
}

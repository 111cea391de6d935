/**
 * The pages are `<base>/console/runs`, `run`, `start` and `questions`. What they show is in the query, because workflow
 * ids may contain slashes. All pages are at the same depth, so that relative URLs work below any base path.
 */
import { useEffect, useState } from './ui.ts'

const PAGES = ['runs', 'run', 'start', 'questions'] as const

export type PageName = (typeof PAGES)[number]

export interface Route {
  page: PageName
  query: URLSearchParams
}

const CHANGED = 'portico:route'

export function currentRoute(): Route {
  const name = location.pathname.split('/').at(-1)
  return { page: PAGES.find((page) => page === name) ?? 'runs', query: new URLSearchParams(location.search) }
}

/** A relative URL. The namespace stays the same. */
export function hrefOf(
  page: PageName,
  query: Record<string, string | null | undefined> | URLSearchParams = {},
): string {
  const parameters = new URLSearchParams()
  const entries = query instanceof URLSearchParams ? query : Object.entries(query)
  for (const [name, value] of entries) if (value != null && value !== '') parameters.append(name, value)
  const { query: current } = currentRoute()
  const namespace = current.get('namespace')
  if (namespace !== null && !parameters.has('namespace')) parameters.set('namespace', namespace)
  const text = parameters.toString()
  return text === '' ? page : `${page}?${text}`
}

export function runHref(workflowId: string, runId?: string | null): string {
  return hrefOf('run', { id: workflowId, run: runId ?? null })
}

export function navigate(href: string, { replace = false } = {}): void {
  history[replace ? 'replaceState' : 'pushState'](null, '', href)
  dispatchEvent(new Event(CHANGED))
  if (!replace) scrollTo(0, 0)
}

export function useRoute(): Route {
  const [route, setRoute] = useState(currentRoute)
  useEffect(() => {
    const update = () => setRoute(currentRoute())
    addEventListener('popstate', update)
    addEventListener(CHANGED, update)
    return () => {
      removeEventListener('popstate', update)
      removeEventListener(CHANGED, update)
    }
  }, [])
  return route
}

/** Follows links within the console without loading the page again. */
export function followLinks(): void {
  document.addEventListener('click', (event) => {
    if (event.defaultPrevented || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.target !== '' || link.hasAttribute('download')) return
    const url = new URL(link.href)
    const folder = new URL('.', location.href)
    const isOurs = PAGES.some((page) => url.pathname === `${folder.pathname}${page}`)
    if (url.origin !== folder.origin || !isOurs || url.hash !== '') return
    event.preventDefault()
    navigate(link.href)
  })
}

import { PorticoError } from '../portico-error.ts'
import type { ClientOptions } from './options.ts'

type Fetch = NonNullable<ClientOptions['fetch']>

const REDIRECTS: readonly number[] = [301, 302, 303, 307, 308]

// More redirects are a loop.
const MAX_REDIRECTS = 5

/**
 * `fetch` that follows redirects to the same origin only: another one would get the body and the headers, such as the
 * key. A POST is only sent again if the redirect keeps its method. A browser does not say where a redirect leads to.
 */
export async function fetchSameOrigin(fetch: Fetch, url: string, toInit: () => RequestInit): Promise<Response> {
  let at = new URL(url)
  for (let redirects = 0; ; redirects++) {
    const init = toInit()
    const response = await fetch(at.href, { ...init, redirect: 'manual' })
    const { status, type, headers } = response
    if (!REDIRECTS.includes(status) && type !== 'opaqueredirect') return response
    await response.body?.cancel()
    const location = headers.get('Location')
    const to = location !== null && URL.canParse(location, at.href) ? new URL(location, at.href) : null
    const keepsMethod = init.method === 'GET' || status > 303
    if (to?.origin !== at.origin || !keepsMethod || redirects === MAX_REDIRECTS) throw notFollowed(at, to, status)
    at = to
  }
}

function notFollowed({ pathname }: URL, to: URL | null, status: number): PorticoError {
  const target = to === null ? '' : ` to ${to.origin}${to.pathname}`
  const message = `${pathname}: the redirect${target} is not followed; set url to the address of the service`
  return new PorticoError('UnexpectedResponseError', message, { status })
}

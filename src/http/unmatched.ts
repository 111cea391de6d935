/** Responses to requests for which no route exists. */
import type { Context, Hono } from 'hono'
import { ServiceError } from '../domain/model/errors.ts'
import type { Env } from './context.ts'
import { rawPath } from './path.ts'
import { respond, setHeader } from './response.ts'

const MAX_SHOWN_PATH = 200

export function notFound(c: Context, hint: readonly string[] = []): never {
  const path = rawPath(c.req.raw).slice(0, MAX_SHOWN_PATH)
  throw new ServiceError('NotFoundError', [`Route ${path} not found`, ...hint].join('. '))
}

/** What the client may have meant. */
function hintsAbout(
  path: string,
  { routes, basePath }: { routes: readonly { path: string }[]; basePath: string },
): string[] {
  if (path === '/') {
    const page = routes.some((route) => route.path === '/docs') ? `, and GET ${basePath}/docs shows it` : ''
    return [`GET ${basePath}/openapi.json describes the API${page}`]
  }
  return /^\/workflow\/.+\/cancel$/.test(path) ? ['To cancel a workflow, send PATCH /workflow/:id/stop'] : []
}

/** If the path has routes with other methods: 204 with a list of them for OPTIONS, otherwise 405. */
export function unmatched({ router, routes }: Hono<Env>): (c: Context<Env>) => Response {
  return (c) => {
    const methods = new Set(routes.map(({ method }) => method))
    const matching = [...methods].filter((method) => router.match(method, c.req.path)[0].length > 0)
    if (matching.length === 0) notFound(c, hintsAbout(c.req.path, { routes, basePath: c.get('basePath') }))
    const allowed = matching.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])).join(', ')
    if (c.req.method === 'OPTIONS') return respond(c, null, 204, { Allow: allowed })
    setHeader(c, 'Allow', allowed)
    throw new ServiceError('MethodNotAllowedError', `Method ${c.req.method} is not allowed; use ${allowed}`)
  }
}

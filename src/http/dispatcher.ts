/** Sends each request to the app of its namespace, behind one limit on requests in flight: docs/api.md, Namespaces. */
import type { App } from './app.ts'
import { matcherOf } from './endpoint.ts'
import { ENDPOINTS } from './endpoints/endpoints.ts'
import { type Mount, pathBelow, splitNamespace } from './path.ts'
import { createLoadShedder, type LoadShedder, type LoadShedderOptions } from './shed-load.ts'

export interface DispatcherOptions extends Pick<LoadShedderOptions, 'corsOrigins' | 'limit' | 'observers'> {
  mount: Mount
  /** The app of paths without a namespace. */
  defaultApp: App
  /** The app of the paths below `/namespaces/<name>`; null for a name that cannot be one. */
  appOf(namespace: string | null): App
}

export interface Dispatcher {
  fetch(request: Request): Promise<Response>
  /** For a server that can hold and reject requests before it has created a `Request`. `fetch` uses it, too. */
  loadShedder: LoadShedder
}

export function createDispatcher({ mount, defaultApp, appOf, ...options }: DispatcherOptions): Dispatcher {
  const pathOf = pathBelow(mount)
  const isWork = matcherOf(ENDPOINTS.filter(({ takes }) => takes !== 'nothing'))
  const loadShedder = createLoadShedder({
    ...options,
    // Of all apps. Paths are checked with their namespace, so those without a token are only the ones without it.
    checks: defaultApp.checks,
    pathOf,
    isWork: (path) => isWork(splitNamespace(path)?.rest ?? path),
    handle(request, place) {
      const inNamespace = splitNamespace(pathOf(request))
      return (inNamespace === null ? defaultApp : appOf(inNamespace.name)).handle(request, place)
    },
  })
  return { loadShedder, fetch: (request) => loadShedder.handle(request) }
}

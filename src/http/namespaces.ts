/**
 * Sends each request to the app of its namespace, behind one limit on requests in flight, and rejects callers that may
 * not use the namespace: docs/api.md, Namespaces.
 */
import type { Context } from 'hono'
import { forbidden } from '../domain/access/decide.ts'
import { grantsIn } from '../domain/access/grant.ts'
import type { Caller } from '../domain/model/caller.ts'
import { ServiceError } from '../domain/model/errors.ts'
import type { Env, RequestCheck, RequestStep } from './context.ts'
import { matcherOf } from './endpoint.ts'
import { ENDPOINTS } from './endpoints/endpoints.ts'
import { type Mount, pathBelow, splitNamespace } from './path.ts'
import type { Place } from './place-queue.ts'
import { createLoadShedder, type LoadShedder, type LoadShedderOptions } from './shed-load.ts'

/** The HTTP application of a namespace. */
export interface App {
  /** Handles a request, with the place in flight that it has waited for. */
  handle(request: Request, place?: Place): Promise<Response>
  /** The checks that come before a request counts as in flight. */
  checks: readonly RequestCheck[]
  /** What is mounted, below the base path and the namespace. */
  routes: readonly { method: string; path: string }[]
}

export interface DispatcherOptions extends Pick<LoadShedderOptions, 'corsOrigins' | 'limit' | 'observers'> {
  mount: Mount
  /** The app of paths without a namespace. */
  defaultApp: App
  /** The app of the paths below `/namespaces/<name>`. `namespace` is null if the name cannot be decoded. */
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
    // They apply to all apps: a path has its namespace here, so only a path without a namespace can be public.
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

export interface NamespaceOptions {
  name: string
  /** Whether the service has this namespace. */
  exists: boolean
  /** The namespace of paths without one. */
  defaultNamespace: string
  /** Whether the paths begin with `/namespaces/<name>`. */
  isNamespaced: boolean
}

/**
 * Rejects callers without a rule for the namespace; for the others, only these rules count from now on. Below
 * `/namespaces/<name>` the response is that of a namespace that does not exist, so that callers cannot find out which
 * namespaces there are. OPTIONS needs no credential, so it gets the same response for every name.
 */
export function requireNamespace({ name, exists, defaultNamespace, isNamespaced }: NamespaceOptions): RequestStep {
  const error = isNamespaced ? notFound : () => forbidden('namespace', ['paths without /namespaces/<name>'])

  /** Restricts the caller to its rules for the namespace. */
  function restrict(c: Context<Env>, caller: Caller): undefined {
    const grants = grantsIn(caller, name, defaultNamespace)
    if (grants === null) return undefined
    if (!exists || grants.length === 0) {
      Object.assign(c.get('audit'), { action: 'namespace', rule: 'none' })
      throw error()
    }
    c.set('caller', { ...caller, grants })
  }

  return (c) => {
    if (c.req.method === 'OPTIONS') return undefined
    const caller = c.get('caller')
    if (caller !== undefined) restrict(c, caller)
    if (!exists) throw error()
    if (isNamespaced) c.get('facts').namespace = name
    return undefined
  }
}

function notFound(): ServiceError {
  return new ServiceError('NotFoundError', 'This namespace does not exist, or the credential does not allow its use')
}

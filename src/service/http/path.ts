/** Request paths. They are routed as received, still percent-encoded, and decoded only here. */

import type { Context } from 'hono'
import type { Router } from 'hono/router'
import { RegExpRouter } from 'hono/router/reg-exp-router'
import { TrieRouter } from 'hono/router/trie-router'
import { percentDecode } from '../../shared/lib/percent-encode.ts'
import { workflowIdIssue } from '../../shared/wire/names.ts'
import type { UpdateRef } from '../model/engine.ts'
import { ServiceError } from '../model/errors.ts'
import type { ExecutionRef } from '../model/execution.ts'
import type { StandaloneRef } from '../model/standalone-activity.ts'
import type { Env, RequestCheck } from './context.ts'
import { PATH_PARAMETERS, type PathParameter } from './path-parameters.ts'

/**
 * The path of a URL with or without scheme and host, still percent-encoded: "%2F" in an id is not a separator,
 * and "%25" must not be decoded twice.
 */
export function rawPath({ url }: { url: string }): string {
  const start = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const end = url.slice(start).search(/[?#]/)
  return start === -1 ? '/' : url.slice(start, end === -1 ? undefined : start + end)
}

/** Where the routes are mounted. */
export interface Mount {
  /** For example `/portico`; empty for the root. */
  basePath: string
  /** Set when a framework routes requests here: it may have removed the base path from them. */
  mayBeStripped?: boolean
  /** The URL of the routes for clients; null if it is not known. Default: null. */
  publicUrl?: string | null
}

/** The prefix of every `Location`, for routes that are mounted at `basePath`: that of `mount`, or below it. */
export function locationBaseOf({ basePath: root, publicUrl }: Mount, basePath: string): string {
  return (publicUrl ?? root) + basePath.slice(root.length)
}

/** The first segment of the paths of a namespace: `/namespaces/<name>/…`. */
const NAMESPACES = '/namespaces/'

/** Splits a path below the base path; null if it does not name a namespace. `name` is null if it cannot be decoded. */
export function splitNamespace(path: string): { name: string | null; rest: string } | null {
  if (!path.startsWith(NAMESPACES) || path.startsWith('/', NAMESPACES.length)) return null
  if (path.length === NAMESPACES.length) return null
  const end = path.indexOf('/', NAMESPACES.length)
  return {
    name: percentDecode(path.slice(NAMESPACES.length, end === -1 ? undefined : end)),
    rest: end === -1 ? '/' : path.slice(end),
  }
}

/** Removes the base path. A request outside the base path gets a path that no route matches. */
export function pathBelow({ basePath, mayBeStripped = false }: Mount): (request: { url: string }) => string {
  if (basePath === '') return rawPath
  return (request) => {
    const path = rawPath(request)
    if (path === basePath) return '/'
    if (path.startsWith(`${basePath}/`)) return path.slice(basePath.length)
    return mayBeStripped ? path : `/${path}`
  }
}

/** The same for the paths of a namespace: they begin with `/namespaces/<name>`, which is removed too. */
export function mountBelowNamespace(mount: Mount, namespace: string) {
  const pathOf = pathBelow(mount)
  return {
    basePath: `${mount.basePath}${NAMESPACES}${encodeURIComponent(namespace)}`,
    pathOf(request: { url: string }): string {
      const path = pathOf(request)
      return splitNamespace(path)?.rest ?? path
    },
  }
}

/** Rejects malformed percent-encoding, which Hono would pass on undecoded. */
export const decodablePath: RequestCheck = (c) => {
  if (!c.req.path.includes('%')) return
  try {
    decodeURIComponent(c.req.path)
  } catch (cause) {
    throw new ServiceError('ValidationError', 'The path is not valid percent-encoded UTF-8', { cause })
  }
}

/** A parameter of the path. */
export function parameterInPath(c: Context, name: PathParameter): string {
  const { label, issue } = PATH_PARAMETERS[name]
  return checked(label, c.req.param(name), issue)
}

/** The execution named by `/workflow/:id/…` or `/workflow/:id/runs/:rid/…`. */
export function executionInPath(c: Context): ExecutionRef {
  return { workflowId: parameterInPath(c, 'id'), ...runInPath(c) }
}

/** The standalone activity named by `/activity/:activityId/…` or `/activity/:activityId/runs/:rid/…`. */
export function standaloneInPath(c: Context): StandaloneRef {
  return { activityId: checked('Activity id', c.req.param('activityId'), workflowIdIssue), ...runInPath(c) }
}

function runInPath(c: Context): { runId?: string } {
  return c.req.param('rid') === undefined ? {} : { runId: parameterInPath(c, 'rid').toLowerCase() }
}

export function resultPath(c: Context<Env>, workflowId: string): string {
  return `${c.get('locationBase')}/workflow/${encodeURIComponent(workflowId)}/result`
}

/** The same for clients that poll until the response is not a 202. */
export function pendingPath(c: Context<Env>, workflowId: string): string {
  return resultPath(c, workflowId) + pendingQuery(c)
}

export function schedulePath(c: Context<Env>, scheduleId: string): string {
  return `${c.get('locationBase')}/schedules/${encodeURIComponent(scheduleId)}`
}

export function batchPath(c: Context<Env>, batchId: string): string {
  return `${c.get('locationBase')}/batches/${batchId}`
}

export function activityResultPath(c: Context<Env>, activityId: string): string {
  return `${c.get('locationBase')}/activity/${encodeURIComponent(activityId)}/result`
}

/** With the form of the body that this request has chosen. */
export function pendingQuery(c: Context): string {
  return c.req.query('body') === 'output' ? '?pending=202&body=output' : '?pending=202'
}

/** The path to read an update. It has the run id, because only this run knows the update. */
export function updatePath(c: Context<Env>, { workflowId, runId, updateId }: UpdateRef, name: string): string {
  const [id, update, handler] = [workflowId, updateId, name].map(encodeURIComponent)
  return `${c.get('locationBase')}/workflow/${id}/runs/${runId}/update/${handler}/${update}`
}

/** The URL of this request, without its query string. */
export function requestPath(c: Context<Env>): string {
  return c.get('locationBase') + c.req.path
}

function checked(what: string, value = '', check: (value: string) => string | null): string {
  const issue = check(value)
  if (issue === null) return value
  throw new ServiceError('ValidationError', `${what}: ${issue}`, {
    details: { issues: [{ path: '', message: `${what}: ${issue}` }] },
  })
}

const OF_A_RUN = '/workflow/:id/'
const PREFIX = '/workflow/'

/**
 * Finds routes. Most requests are about one run: `RegExpRouter` finds their routes in a fifth of the time that
 * `TrieRouter` takes. It cannot contain `/workflow/catalog/:catalog` as well, so `TrieRouter` finds all other routes.
 */
export function createRouter<T>(): Router<T> {
  const all = new TrieRouter<T>()
  const ofRuns = new RegExpRouter<T>()
  // First path segments below `/workflow/` that are not a workflow id, such as `catalog`.
  const literals = new Set<string>()

  function isOfRun(path: string): boolean {
    if (!path.startsWith(PREFIX)) return false
    const end = path.indexOf('/', PREFIX.length)
    return end !== -1 && !literals.has(path.slice(PREFIX.length, end))
  }

  return {
    name: 'portico',
    add(method, path, handler) {
      all.add(method, path, handler)
      if (path.startsWith(OF_A_RUN)) ofRuns.add(method, path, handler)
      else if (path.startsWith(PREFIX)) literals.add(path.slice(PREFIX.length).split('/', 1)[0] ?? '')
    },
    match: (method, path) => (isOfRun(path) ? ofRuns : all).match(method, path),
  }
}

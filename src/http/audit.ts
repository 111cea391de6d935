/** Records what callers were allowed and denied. The engine's history has the changes too, see `identity`. */
import type { Context } from 'hono'
import { AUDIT } from '../log.ts'
import { type Env, type RequestStep, whenResponded, whenSent } from './context.ts'
import type { Access } from './endpoint.ts'
import { errorOf, type Observers, statusOf } from './observe.ts'

/** Which requests are recorded: none, changes and denials, or all. */
export type AuditMode = 'off' | 'effects' | 'all'

export interface AuditOptions {
  mode: AuditMode
  /** The namespace of all requests; null for those to namespaces that do not exist. */
  namespace: string | null
  observers: Pick<Observers, 'log' | 'metrics'>
}

/** Actions that change nothing, and are not recorded with `effects` unless they are denied. */
const READS: ReadonlySet<string> = new Set(['read', 'list', 'query', 'catalog', 'validate', 'metrics', 'any'])

/**
 * Logs one line when the response is complete: what the request did, and which rule allowed it. A request that was
 * rejected before anything was decided has no line.
 */
export function audit({ mode, namespace, observers }: AuditOptions, access: Access): RequestStep {
  const { log, metrics = null } = observers

  function record(c: Context<Env>): void {
    const { action, rule = null, workflowId, runId, workflowName } = c.get('audit')
    if (action === undefined) return
    const verb = verbOf(action)
    const isDenied = rule === 'none'
    if (isDenied) metrics?.callerDenied(verb, rule)
    const isEffect = isDenied || !(READS.has(verb) || c.req.method === 'GET' || c.req.method === 'HEAD')
    if (mode === 'off' || (mode === 'effects' && !isEffect)) return
    const status = statusOf(c)
    log('info', AUDIT, {
      requestId: c.get('requestId'),
      caller: c.get('caller')?.id ?? null,
      rule,
      action,
      namespace,
      workflowId,
      runId,
      workflowName,
      status,
      error: errorOf(c, status),
    })
  }

  return (c) => {
    // The domain decides about all others.
    if (access === 'any' || access === 'metrics') c.get('audit').action = access
    // An operator is never denied anything.
    if (mode === 'off' && (c.get('caller')?.grants ?? null) === null) return
    whenResponded(c, () => whenSent(c, () => record(c)))
  }
}

/** The verb without the handler, whose name is the client's: `signal` of `signal:approve`. */
function verbOf(action: string): string {
  return action.split(':', 1)[0] ?? action
}

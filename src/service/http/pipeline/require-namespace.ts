import type { Context } from 'hono'
import type { Caller } from '../../../shared/access/caller.ts'
import { type Access, callerIn } from '../../../shared/access/grant.ts'
import { forbidden } from '../../access/decide.ts'
import { ServiceError } from '../../model/errors.ts'
import type { Env, RequestStep } from '../context.ts'

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
export function requireNamespace(options: NamespaceOptions, access: Access = 'any'): RequestStep {
  const { name, exists, defaultNamespace, isNamespaced } = options
  const error = isNamespaced ? notFound : () => forbidden('namespace', ['paths without /namespaces/<name>'])

  /** Restricts the caller to its rules for the namespace. */
  function restrict(c: Context<Env>, caller: Caller): undefined {
    const restricted = callerIn(caller, name, defaultNamespace)
    if (restricted.kind === 'operator') return
    if (!exists || restricted.grants.length === 0) {
      const withoutRules = !isNamespaced && caller.kind === 'granted' && caller.grants.length === 0
      c.get('audit').push({ action: withoutRules ? access : 'namespace', rule: 'none' })
      throw withoutRules ? noRule(access) : error()
    }
    c.set('caller', restricted)
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

function noRule(action: Access): ServiceError {
  return new ServiceError('ForbiddenError', 'No rule applies to this credential', {
    details: { action },
    reason: 'no rule',
  })
}

function notFound(): ServiceError {
  return new ServiceError('NotFoundError', 'This namespace does not exist, or the credential does not allow its use')
}

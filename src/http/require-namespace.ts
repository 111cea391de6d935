import type { Context } from 'hono'
import { forbidden } from '../domain/access/decide.ts'
import { grantsIn } from '../domain/access/grant.ts'
import type { Caller } from '../domain/model/caller.ts'
import { ServiceError } from '../domain/model/errors.ts'
import type { Env, RequestStep } from './context.ts'

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

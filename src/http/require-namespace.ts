import { grantsIn } from '../domain/access/grant.ts'
import { ServiceError } from '../domain/model/errors.ts'
import type { RequestStep } from './step.ts'

export interface NamespaceOptions {
  name: string
  /** Whether the service has this namespace. */
  exists: boolean
  /** The namespace of paths without one. */
  defaultNamespace: string
  /** Whether the paths begin with `/namespaces/<name>`. */
  isNamespaced: boolean
  isPublic(path: string): boolean
}

/**
 * Rejects callers that no rule grants the namespace. Below `/namespaces/<name>` the response is that of a namespace
 * that does not exist, so that nobody can find out which namespaces there are. OPTIONS needs no credential, so it gets
 * the same response for every name.
 */
export function requireNamespace(options: NamespaceOptions): RequestStep {
  const { name, exists, defaultNamespace, isNamespaced, isPublic } = options
  return (c) => {
    if (c.req.method === 'OPTIONS' || isPublic(c.req.path)) return undefined
    const caller = c.get('caller')
    const isGranted = caller === undefined || grantsIn(caller, name, defaultNamespace)?.length !== 0
    if (exists && isGranted) {
      if (isNamespaced) c.get('facts').namespace = name
      return undefined
    }
    if (caller?.grants != null) Object.assign(c.get('audit'), { action: 'namespace', rule: 'none' })
    if (isNamespaced)
      throw new ServiceError('NotFoundError', 'This namespace does not exist, or the credential does not allow its use')
    throw new ServiceError(
      'ForbiddenError',
      'No rule of the credential allows the namespace of paths without one; use /namespaces/<name>/…',
      { details: { action: 'namespace' } },
    )
  }
}

import { allows } from '../../../../shared/access/grant.ts'
import type { PolicyVerb } from '../../../../shared/access/policy-verbs.ts'
import { apiPath, get } from './api.ts'
import { credentialRequired, whenCredentialChanges } from './credential.ts'
import { useCredential } from './hooks.ts'
import { useEffect, useState } from './ui.ts'

export interface Capabilities {
  features: Record<string, boolean | null>
  /** Null for a caller that may do everything. */
  caller: { name: string; can: string[] } | null
}

let shared = new Map<string, Promise<Capabilities>>()

whenCredentialChanges(() => {
  shared = new Map()
})

/** What this deployment can do, and what the visitor may; null before that is known. Read once for all of the page. */
export function useCapabilities(): Capabilities | null {
  const [capabilities, setCapabilities] = useState<Capabilities | null>(null)
  const path = apiPath('capabilities')
  const credential = useCredential()
  useEffect(() => {
    if (credentialRequired && credential === null) return setCapabilities(null)
    let isCurrent = true
    const read = shared.get(path) ?? get<Capabilities>('capabilities').catch(() => UNKNOWN)
    shared.set(path, read)
    void read.then((found) => isCurrent && setCapabilities(found))
    return () => {
      isCurrent = false
    }
  }, [path, credential])
  return capabilities
}

/** Without them the page works: the service rejects what the visitor may not do. */
const UNKNOWN: Capabilities = { features: {}, caller: null }

/** Whether any rule of the visitor has the verb. The service decides; this is about what to show. */
export type May = (verb: PolicyVerb, handler?: string) => boolean

/** Nothing is allowed before it is known, so that no button disappears. */
export function mayOf(capabilities: Capabilities | null): May {
  if (capabilities === null) return () => false
  const { caller } = capabilities
  return (verb, handler) =>
    caller == null ||
    caller.can.some((permission) => allows(permission, handler === undefined ? { verb } : { verb, handler }))
}

export function useMay(): May {
  return mayOf(useCapabilities())
}

/** The visitor's credential: entered once for each tab, and gone when the tab is closed. */
const KEY = `portico-credential:${new URL('..', location.href).pathname}`

/** Whether the service rejects requests without a credential. */
export const credentialRequired =
  document.querySelector<HTMLMetaElement>('meta[name="portico-credential"]')?.content === 'required'

type Listener = () => void
const listeners = new Set<Listener>()

export function readCredential(): string | null {
  return credentialRequired ? sessionStorage.getItem(KEY) : null
}

export function keepCredential(value: string): void {
  sessionStorage.setItem(KEY, value)
  announce()
}

export function forgetCredential(): void {
  sessionStorage.removeItem(KEY)
  announce()
}

export function whenCredentialChanges(listener: Listener): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function announce(): void {
  for (const listener of listeners) listener()
}

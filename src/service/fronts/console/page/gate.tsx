import { call } from './api.ts'
import { credentialRequired, keepCredential } from './credential.ts'
import { useCredential, useTitle } from './hooks.ts'
import { Failure, VERBATIM } from './parts.tsx'
import { type Child, useState } from './ui.ts'

/** Shows its children once there is a credential, if the service requires one. */
export function Gate({ children }: { children: Child }) {
  const credential = useCredential()
  return credentialRequired && credential === null ? <CredentialForm /> : children
}

function CredentialForm() {
  const [error, setError] = useState<unknown>(null)
  const [busy, setBusy] = useState(false)
  useTitle('Sign in')
  return (
    <main id="main" class="narrow">
      <form
        class="card stack"
        onSubmit={async (event: Event) => {
          event.preventDefault()
          const field = (event.target as HTMLFormElement).elements.namedItem('credential') as HTMLInputElement
          setBusy(true)
          setError(null)
          try {
            await tryCredential(field.value.trim())
          } catch (failure) {
            setError(failure)
          }
          setBusy(false)
        }}
      >
        <h1>Sign in</h1>
        <label>
          <span>Token or JWT</span>
          <input name="credential" type="password" {...VERBATIM} required />
        </label>
        <p class="quiet small">
          It is kept for this tab until you close it, and sent to this service only. What it allows is what you can do
          here.
        </p>
        {error !== null && <Failure error={error} />}
        <button type="submit" class="primary" disabled={busy}>
          Continue
        </button>
      </form>
    </main>
  )
}

/** Any valid credential may read the capabilities. */
async function tryCredential(value: string): Promise<void> {
  await call('capabilities', { headers: { Authorization: `Bearer ${value}` } })
  keepCredential(value)
}

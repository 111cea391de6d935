import { call } from './api.ts'
import { credentialRequired, keepCredential } from './credential.ts'
import { useAct, useCredential, useTitle } from './hooks.ts'
import { ErrorMessage, Input, submitting } from './parts.tsx'
import type { Child } from './ui.ts'

/** Shows its children once there is a credential, if the service requires one. */
export function Gate({ children }: { children: Child }) {
  const credential = useCredential()
  return credentialRequired && credential === null ? <CredentialForm /> : children
}

function CredentialForm() {
  const { busy, error, act } = useAct()
  useTitle('Sign in')
  return (
    <main id="main" class="narrow">
      <form
        class="card stack"
        onSubmit={submitting((form) => act(() => tryCredential(String(form.get('credential')).trim())))}
      >
        <h1>Sign in</h1>
        <Input label="Token or JWT" name="credential" type="password" required />
        <p class="quiet small">
          It is kept for this tab until you close it, and sent to this service only. What it allows is what you can do
          here.
        </p>
        {error !== null && <ErrorMessage error={error} />}
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

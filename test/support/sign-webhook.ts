/** Signs webhooks as their senders do, with Node's crypto instead of the code under test. */
import { createHmac } from 'node:crypto'

/** The headers of a delivery. `seconds`: when it was sent; default: now. */
interface Signed {
  secret: string
  body: string
  id?: string
  seconds?: number
}

const now = () => Math.floor(Date.now() / 1000)

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text)

export const signWebhook = {
  standard({ secret, body, id = crypto.randomUUID(), seconds = now() }: Signed) {
    const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64')
    return {
      'webhook-id': id,
      'webhook-timestamp': String(seconds),
      'webhook-signature': `v1,${hmac(key, `${id}.${seconds}.${body}`).digest('base64')}`,
    }
  },
  stripe({ secret, body, seconds = now() }: Signed) {
    return { 'Stripe-Signature': `t=${seconds},v1=${hmac(secret, `${seconds}.${body}`).digest('hex')}` }
  },
  github({ secret, body, id = crypto.randomUUID() }: Signed) {
    return {
      'X-GitHub-Delivery': id,
      'X-GitHub-Event': 'push',
      'X-Hub-Signature-256': `sha256=${hmac(secret, body).digest('hex')}`,
    }
  },
  slack({ secret, body, seconds = now() }: Signed) {
    return {
      'X-Slack-Request-Timestamp': String(seconds),
      'X-Slack-Signature': `v0=${hmac(secret, `v0:${seconds}:${body}`).digest('hex')}`,
    }
  },
  token({ secret }: Signed) {
    return { 'X-Token': secret }
  },
} satisfies Record<string, (signed: Signed) => Record<string, string>>

export type SignedScheme = keyof typeof signWebhook

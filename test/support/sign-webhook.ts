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

const hmac = (key: string | Buffer, text: string, hash = 'sha256') => createHmac(hash, key).update(text)

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
  shopify({ secret, body, id = crypto.randomUUID() }: Signed) {
    return { 'X-Shopify-Hmac-Sha256': hmac(secret, body).digest('base64'), 'X-Shopify-Webhook-Id': id }
  },
  linear({ secret, body, id = crypto.randomUUID() }: Signed) {
    return { 'Linear-Signature': hmac(secret, body).digest('hex'), 'Linear-Delivery': id }
  },
  bitbucket({ secret, body, id = crypto.randomUUID() }: Signed) {
    return { 'X-Hub-Signature': `sha256=${hmac(secret, body).digest('hex')}`, 'X-Request-UUID': id }
  },
  jira({ secret, body, id = crypto.randomUUID() }: Signed) {
    return { 'X-Hub-Signature': `sha256=${hmac(secret, body).digest('hex')}`, 'X-Atlassian-Webhook-Identifier': id }
  },
  typeform({ secret, body }: Signed) {
    return { 'Typeform-Signature': `sha256=${hmac(secret, body).digest('base64')}` }
  },
  paddle({ secret, body, seconds = now() }: Signed) {
    return { 'Paddle-Signature': `ts=${seconds};h1=${hmac(secret, `${seconds}:${body}`).digest('hex')}` }
  },
  zoom({ secret, body, seconds = now() }: Signed) {
    return {
      'x-zm-request-timestamp': String(seconds),
      'x-zm-signature': `v0=${hmac(secret, `v0:${seconds}:${body}`).digest('hex')}`,
    }
  },
  meta({ secret, body }: Signed) {
    return { 'X-Hub-Signature-256': `sha256=${hmac(secret, body).digest('hex')}` }
  },
  sentry({ secret, body, id = crypto.randomUUID() }: Signed) {
    return { 'Sentry-Hook-Signature': hmac(secret, body).digest('hex'), 'Request-ID': id }
  },
  vercel({ secret, body }: Signed) {
    return { 'x-vercel-signature': hmac(secret, body, 'sha1').digest('hex') }
  },
  intercom({ secret, body }: Signed) {
    return { 'X-Hub-Signature': `sha1=${hmac(secret, body, 'sha1').digest('hex')}` }
  },
  calendly({ secret, body, seconds = now() }: Signed) {
    const mac = hmac(secret, `${seconds}.${body}`).digest('hex')
    return { 'Calendly-Webhook-Signature': `t=${seconds},v1=${mac}` }
  },
  token({ secret }: Signed) {
    return { 'X-Token': secret }
  },
} satisfies Record<string, (signed: Signed) => Record<string, string>>

export type SignedScheme = keyof typeof signWebhook

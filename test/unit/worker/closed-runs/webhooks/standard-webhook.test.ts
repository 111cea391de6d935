import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { signWebhook } from '../../../../../src/worker/closed-runs/webhooks/standard-webhook.ts'

// The vector of the specification's libraries.
const SECRET = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
const MESSAGE = { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' }
const SECONDS = 1_614_265_330

test('signWebhook: has the signature of the published vector (threat 73)', () => {
  expect(signWebhook(MESSAGE, SECONDS, Buffer.from(SECRET, 'base64'))).toBe(
    'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  )
})

test('signWebhook: signs the bytes of UTF-8, as the published library does', () => {
  const message = { id: 'msg_1', body: '{"name":"Zoë 👩‍🚀"}' }
  const signed = new Webhook(SECRET).sign(message.id, new Date(SECONDS * 1000), message.body)

  expect(signWebhook(message, SECONDS, Buffer.from(SECRET, 'base64'))).toBe(signed)
})

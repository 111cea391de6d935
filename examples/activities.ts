import { ApplicationFailure, activityInfo, CompleteAsyncError, heartbeat, sleep } from '@temporalio/activity'
// In your own project: import { span } from 'portico/span'
import { span } from '../src/worker/tracing/span.ts'

export { streamAnswer } from './chat/activity.ts'

export async function validate({ orderId, amount }: { orderId: string; amount: number }): Promise<void> {
  if (!(amount > 0))
    throw ApplicationFailure.nonRetryable(
      `Order ${orderId}: the amount must be positive, not ${amount}`,
      'InvalidOrder',
    )
}

export async function charge({ orderId, card }: { orderId: string; amount: number; card: string }): Promise<string> {
  if (card === '0000') throw ApplicationFailure.nonRetryable('Card 0000 was declined', 'CardDeclined')
  if (card === 'flaky' && activityInfo().attempt < 3) throw new Error('The bank did not answer')
  if (card === 'slow') await waitForBank()
  // A person calls the customer, and completes this activity by its id: docs/api/activities.md.
  if (card === 'phone') throw new CompleteAsyncError()
  return `charge-${orderId}`
}

/** `GET /workflow/:id/status` shows the details of the last heartbeat as `progress`. */
async function waitForBank(): Promise<void> {
  heartbeat({ stage: 'waiting for the bank', percent: 50 })
  await sleep('5s')
}

export async function refund({ chargeId }: { chargeId: string }): Promise<string> {
  return `refund-of-${chargeId}`
}

export async function ship({ orderId, priority }: { orderId: string; priority: string }): Promise<string> {
  await span('note', 'thank-you note', { orderId }, () => writeNote(orderId))
  return `shipment-${orderId}-${priority}`
}

/** Spans show what happens inside an activity. This one records the prompt, the model's answer and the tokens used. */
function writeNote(orderId: string): Promise<string> {
  const prompt = `Thank the customer for order ${orderId}.`
  return span('llm', 'write', { model: 'parrot-1' }, async (call) => {
    call.input(prompt)
    const { text, tokens } = await askModel(prompt)
    call.set({ tokens })
    return text
  })
}

/** In a real project, a call to a model provider. */
async function askModel(prompt: string): Promise<{ text: string; tokens: number }> {
  return { text: `Dear customer! ${prompt}`, tokens: prompt.split(' ').length }
}

import {
  CancellationScope,
  condition,
  defineQuery,
  defineSignal,
  defineUpdate,
  proxyActivities,
  setHandler,
} from '@temporalio/workflow'
import type * as activities from './activities.ts'

export { chat } from './chat/workflow.ts'

const { charge, refund, ship, validate } = proxyActivities<typeof activities>({
  startToCloseTimeout: '10s',
  retry: { initialInterval: '100ms', maximumAttempts: 5 },
})

export interface Order {
  orderId: string
  amount: number
  card: string
}

export interface Progress {
  stage: 'validating' | 'charging' | 'waiting_for_approval' | 'shipping' | 'shipped' | 'refunding' | 'refunded'
  priority: Priority
  approvedBy: string | null
}

const PRIORITIES = ['low', 'normal', 'high'] as const
export type Priority = (typeof PRIORITIES)[number]

export const approve = defineSignal<[{ by: string }]>('approve')
export const progress = defineQuery<Progress>('progress')
export const priority = defineUpdate<{ before: Priority; after: Priority }, [{ level: Priority }]>('priority')

const APPROVAL_NEEDED_ABOVE = 100

export async function greet({ name }: { name: string }, greeting = 'Hello'): Promise<string> {
  return `${greeting}, ${name}!`
}

export async function order({
  orderId,
  amount,
  card,
}: Order): Promise<{ orderId: string; chargeId: string; shipmentId: string }> {
  const now: Progress = { stage: 'validating', priority: 'normal', approvedBy: null }
  setHandler(progress, () => now)
  setHandler(approve, ({ by }) => {
    now.approvedBy ??= by
  })
  setHandler(
    priority,
    ({ level }) => {
      const before = now.priority
      now.priority = level
      return { before, after: level }
    },
    {
      validator: (change) => {
        if (!PRIORITIES.includes(change?.level)) throw new Error(`level must be one of ${PRIORITIES.join(', ')}`)
        if (change.level === now.priority) throw new Error(`the priority is ${now.priority} already`)
      },
    },
  )

  await validate({ orderId, amount })

  now.stage = 'charging'
  // Not cancellable: after a stop we must still know whether the card was charged.
  const chargeId = await CancellationScope.nonCancellable(() => charge({ orderId, amount, card }))
  try {
    if (amount > APPROVAL_NEEDED_ABOVE) {
      now.stage = 'waiting_for_approval'
      await condition(() => now.approvedBy !== null)
    }
    now.stage = 'shipping'
    const shipmentId = await ship({ orderId, priority: now.priority })
    now.stage = 'shipped'
    return { orderId, chargeId, shipmentId }
  } catch (error) {
    now.stage = 'refunding'
    await CancellationScope.nonCancellable(() => refund({ chargeId }))
    now.stage = 'refunded'
    throw error
  }
}

import { ApplicationFailure, activityInfo } from '@temporalio/activity'

export async function charge({ orderId, card }: { orderId: string; amount: number; card: string }): Promise<string> {
  if (card === '0000') throw ApplicationFailure.nonRetryable('Card 0000 was declined', 'CardDeclined')
  if (card === 'flaky' && activityInfo().attempt < 3) throw new Error('The bank did not answer')
  return `charge-${orderId}`
}

export async function refund({ chargeId }: { chargeId: string }): Promise<string> {
  return `refund-of-${chargeId}`
}

export async function ship({ orderId, priority }: { orderId: string; priority: string }): Promise<string> {
  return `shipment-${orderId}-${priority}`
}

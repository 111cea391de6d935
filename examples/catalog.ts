import * as z from 'zod'
import { defineCatalog } from '../src/worker/index.ts'
import type * as workflows from './workflows.ts'

const level = z.enum(['low', 'normal', 'high'])
const stage = z.enum(['validating', 'charging', 'waiting_for_approval', 'shipping', 'shipped', 'refunding', 'refunded'])

export const catalog = defineCatalog<typeof workflows>({
  greet: {
    description: 'Greets somebody by name.',
    aliases: ['hello'],
    input: z.object({ name: z.string().min(1) }),
    output: z.string(),
  },
  order: {
    description: 'Charges a card and ships the order. An order above 100 waits for approval before it ships.',
    input: z.object({ orderId: z.string().min(1), amount: z.number(), card: z.string() }),
    output: z.object({ orderId: z.string(), chargeId: z.string(), shipmentId: z.string() }),
    signals: {
      approve: { description: 'Approves an order above 100.', input: z.object({ by: z.string() }) },
    },
    queries: {
      progress: {
        description: 'Returns the stage of the order.',
        output: z.object({ stage, priority: level, approvedBy: z.string().nullable() }),
      },
    },
    updates: {
      priority: {
        description: 'Changes the shipping priority.',
        input: z.object({ level }),
        output: z.object({ before: level, after: level }),
      },
    },
  },
  chat: {
    description: 'Answers a question, and streams the words of the answer.',
    input: z.object({ question: z.string().min(1).max(200) }),
    output: z.string(),
  },
})

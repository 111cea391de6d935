/** Requests about the catalog and the service, with their responses: those of `docs/api.md`. */
import type { Exchange } from './exchange.ts'

export const serviceExchanges: readonly Exchange[] = [
  {
    name: 'examples',
    method: 'GET',
    path: '/workflow/catalog',
    status: 200,
    response: {
      catalog: 'examples',
      inputsChecked: true,
      workflows: [
        {
          name: 'greet',
          description: 'Greets somebody by name.',
          inputSchema: {
            $schema: 'https://json-schema.org/draft/2020-12/schema',
            type: 'object',
            properties: { name: { type: 'string', minLength: 1 } },
            required: ['name'],
          },
          inputOptional: false,
          outputSchema: { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'string' },
          aliases: ['hello'],
          signals: [],
          queries: [],
          updates: [],
        },
        {
          name: 'order',
          description: 'Charges a card and ships the order. An order above 100 waits for approval before it ships.',
          inputSchema: { type: 'object', required: ['orderId', 'amount', 'card'] },
          inputOptional: false,
          outputSchema: { type: 'object', required: ['orderId', 'chargeId', 'shipmentId'] },
          aliases: [],
          signals: [
            {
              name: 'approve',
              description: 'Approves an order above 100.',
              inputSchema: { type: 'object', required: ['by'] },
              inputOptional: false,
              outputSchema: null,
            },
          ],
          queries: [
            {
              name: 'progress',
              description: 'Returns the stage of the order.',
              inputSchema: null,
              inputOptional: null,
              outputSchema: { type: 'object', required: ['stage', 'priority', 'approvedBy'] },
            },
          ],
          updates: [
            {
              name: 'priority',
              description: 'Changes the shipping priority.',
              inputSchema: { type: 'object', required: ['level'] },
              inputOptional: false,
              outputSchema: { type: 'object', required: ['before', 'after'] },
            },
          ],
        },
      ],
    },
  },
  {
    name: 'node',
    method: 'GET',
    path: '/capabilities',
    status: 200,
    response: {
      version: '0.1.0',
      runtime: 'node',
      transport: 'grpc',
      engine: { version: '1.32.0', uiUrl: 'http://localhost:8233' },
      features: {
        slashInIds: true,
        updateWithStart: true,
        asyncUpdates: true,
        pause: true,
        codec: false,
        docs: true,
        traceRemote: false,
        traceKvstore: false,
        traceLocal: true,
      },
    },
  },
  { name: 'ok', method: 'GET', path: '/health', status: 200, response: { status: 'ok' } },
  { name: 'ok', method: 'GET', path: '/ready', status: 200, response: { status: 'ok', engine: 'reachable' } },
]

import { grpcTransport } from '../../src/service/engine/transport/grpc/transport.ts'
import { asyncUpdates } from '../conformance/engine/async-updates.ts'
import { updateWithStart } from '../conformance/engine/update-with-start.ts'
import { describeEngine } from '../conformance/engine.ts'

const overGrpc = ({ address }: { address: string }) => grpcTransport({ address, apiKey: null, tls: null })

describeEngine('grpc', overGrpc, [asyncUpdates, updateWithStart])

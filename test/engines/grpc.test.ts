import { grpcTransport } from '../../src/engine/transport/grpc.ts'
import { describeFailures } from '../conformance/engine/failures.ts'
import { describeMessages } from '../conformance/engine/messages.ts'
import { describeRunning } from '../conformance/engine/running.ts'

const overGrpc = ({ address }: { address: string }) => grpcTransport({ address, apiKey: null, tls: null })

describeRunning('grpc', overGrpc)
describeFailures('grpc', overGrpc)
describeMessages('grpc', overGrpc)

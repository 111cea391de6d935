import { grpcTransport } from '../../src/engine/transport/grpc/transport.ts'
import { describeAsyncUpdates } from '../conformance/engine/async-updates.ts'
import { describeChanging } from '../conformance/engine/changing.ts'
import { describeFailingTask } from '../conformance/engine/failing-task.ts'
import { describeFailures } from '../conformance/engine/failures.ts'
import { describeHistory } from '../conformance/engine/history.ts'
import { describeListing } from '../conformance/engine/listing.ts'
import { describeMessages } from '../conformance/engine/messages.ts'
import { describePendingWork } from '../conformance/engine/pending-work.ts'
import { describeRepeatedIds } from '../conformance/engine/repeated-ids.ts'
import { describeRunning } from '../conformance/engine/running.ts'
import { describeSignalWithStart } from '../conformance/engine/signal-with-start.ts'
import { describeStartOptions } from '../conformance/engine/start-options.ts'
import { describeStarting } from '../conformance/engine/starting.ts'
import { describeStoredElsewhere } from '../conformance/engine/stored-elsewhere.ts'
import { describeUpdateWithStart } from '../conformance/engine/update-with-start.ts'
import { describeVersions } from '../conformance/engine/versions.ts'
import { describeWaiting } from '../conformance/engine/waiting.ts'

const overGrpc = ({ address }: { address: string }) => grpcTransport({ address, apiKey: null, tls: null })

describeRunning('grpc', overGrpc)
describeWaiting('grpc', overGrpc)
describeStarting('grpc', overGrpc)
describeSignalWithStart('grpc', overGrpc)
describeStartOptions('grpc', overGrpc)
describeRepeatedIds('grpc', overGrpc)
describeVersions('grpc', overGrpc)
describeFailures('grpc', overGrpc)
describeChanging('grpc', overGrpc)
describeFailingTask('grpc', overGrpc)
describeHistory('grpc', overGrpc)
describeListing('grpc', overGrpc)
describeMessages('grpc', overGrpc)
describePendingWork('grpc', overGrpc)
describeStoredElsewhere('grpc', overGrpc)
describeUpdateWithStart('grpc', overGrpc)
describeAsyncUpdates('grpc', overGrpc)

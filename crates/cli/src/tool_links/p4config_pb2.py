"""The message in which controllers of the P4 tutorials wrap a program: p4.tmp.P4DeviceConfig.

Written by `wirespeed links --python DIR`. The message is described here field by field, so that any version of
google.protobuf can make its class.
"""

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def _describe():
    field = descriptor_pb2.FieldDescriptorProto
    file = descriptor_pb2.FileDescriptorProto(name="p4/tmp/p4config.proto", package="p4.tmp", syntax="proto3")
    message = file.message_type.add(name="P4DeviceConfig")
    once = {"label": field.LABEL_OPTIONAL}
    message.field.add(name="reassign", number=1, type=field.TYPE_BOOL, **once)
    extras = {"type": field.TYPE_MESSAGE, "type_name": ".p4.tmp.P4DeviceConfig.Extras"}
    message.field.add(name="extras", number=2, **extras, **once)
    message.field.add(name="device_data", number=3, type=field.TYPE_BYTES, **once)
    extras = message.nested_type.add(name="Extras")
    pairs = {"type": field.TYPE_MESSAGE, "type_name": ".p4.tmp.P4DeviceConfig.Extras.KvEntry"}
    extras.field.add(name="kv", number=1, label=field.LABEL_REPEATED, **pairs)
    pair = extras.nested_type.add(name="KvEntry")
    pair.options.map_entry = True
    pair.field.add(name="key", number=1, type=field.TYPE_STRING, **once)
    pair.field.add(name="value", number=2, type=field.TYPE_STRING, **once)
    return file


def _message_class():
    pool = descriptor_pool.Default()
    pool.AddSerializedFile(_describe().SerializeToString())
    descriptor = pool.FindMessageTypeByName("p4.tmp.P4DeviceConfig")
    if hasattr(message_factory, "GetMessageClass"):
        return message_factory.GetMessageClass(descriptor)
    return message_factory.MessageFactory(pool).GetPrototype(descriptor)


P4DeviceConfig = _message_class()

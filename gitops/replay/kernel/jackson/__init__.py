"""JSON messages, as Pulsar's JSON schema has Jackson write and read them (Pulsar 4.0.7).

A definition in Avro's form says the types; the payload is plain JSON: no union is wrapped, a
member that is null may be absent, an enum's symbol is text and bytes are base64. Jackson knows
neither Avro's aliases nor the defaults of enums, so neither counts here.

Java coerces what does not fit (`"5"` and 5.7 are taken for an int, null for 0), other clients
refuse it. Here a value has to fit the definition, whoever reads: a row that only some clients
read, or read as another value, is one that fails.
"""

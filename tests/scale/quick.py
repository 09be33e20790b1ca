"""Settings of Spark for tests."""

FAST = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
#: Java for programs that run for seconds: its second compiler takes longer than what it gains.
QUICK = {"spark__driver__extraJavaOptions": FAST, "spark__executor__extraJavaOptions": FAST}
